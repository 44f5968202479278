"""The names of the classes of the example data sets, in the order of the columns."""

DIGITS = tuple("0123456789")
ANSWERS = tuple("ABCD")
FASHION = (
    *("T-shirt/top", "trouser", "pullover", "dress", "coat"),
    *("sandal", "shirt", "sneaker", "bag", "ankle boot"),
)
CIFAR_10 = ("airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck")
CIFAR_100 = tuple(
    """
    apple aquarium_fish baby bear beaver bed bee beetle bicycle bottle bowl boy bridge bus butterfly camel
    can castle caterpillar cattle chair chimpanzee clock cloud cockroach couch crab crocodile cup dinosaur
    dolphin elephant flatfish forest fox girl hamster house kangaroo keyboard lamp lawn_mower leopard lion
    lizard lobster man maple_tree motorcycle mountain mouse mushroom oak_tree orange orchid otter palm_tree
    pear pickup_truck pine_tree plain plate poppy porcupine possum rabbit raccoon ray road rocket rose sea
    seal shark shrew skunk skyscraper snail snake spider squirrel streetcar sunflower sweet_pepper table tank
    telephone television tiger tractor train trout tulip turtle wardrobe whale willow_tree wolf woman worm
    """.split()  # noqa: SIM905 - easier to read
)
TOPICS = ("World", "Sports", "Business", "Sci/Tech")
NEWSGROUPS = tuple(
    """
    alt.atheism comp.graphics comp.os.ms-windows.misc comp.sys.ibm.pc.hardware comp.sys.mac.hardware
    comp.windows.x misc.forsale rec.autos rec.motorcycles rec.sport.baseball rec.sport.hockey sci.crypt
    sci.electronics sci.med sci.space soc.religion.christian talk.politics.guns talk.politics.mideast
    talk.politics.misc talk.religion.misc
    """.split()  # noqa: SIM905 - easier to read
)
EMOTIONS = ("sadness", "joy", "love", "anger", "fear", "surprise")
GO_EMOTIONS = tuple(
    """
    admiration amusement anger annoyance approval caring confusion curiosity desire disappointment disapproval
    disgust embarrassment excitement fear gratitude grief joy love nervousness optimism pride realization relief
    remorse sadness surprise neutral
    """.split()  # noqa: SIM905 - easier to read
)
PRICES = ("down", "up")
TWEETS = ("anger", "joy", "optimism", "sadness")
